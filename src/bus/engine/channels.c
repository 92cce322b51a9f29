// engine::channels::create and the byte streams behind it (spec 1.4): messages go from one connection to another as
// they come, with at most `buffer_size` of them waiting.
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "bus/conn.h"
#include "bus/engine/internal.h"

#define CHANNELS_MAX 4096
#define BUFFER_DEFAULT 64
#define BUFFER_MOST 1024
#define SWEEP_MS 60000
#define UNUSED_MS 300000

struct piece {
  struct cr_list link;
  enum cr_opcode opcode;
  size_t length;
  uint8_t bytes[];
};

enum side { WRITER, READER };

struct end {
  struct channel *channel;  // NULL: refused
  enum side side;
  struct cr_conn *conn;
  int open;
};

struct channel {
  struct cr_engine *engine;
  char id[CR_UUID_SIZE], key[CR_UUID_SIZE];
  size_t most;
  struct cr_list queue;  // pieces for a reader that is not there yet
  size_t queued, bytes;
  struct end *ends[2];
  int taken[2];
  int finished;  // the writer is done
  uint64_t made;
  UT_hash_handle hh;
};

static const struct cr_conn_events end_events;

static void queue_free(struct channel *channel) {
  while (!cr_list_empty(&channel->queue)) {
    struct piece *piece = cr_list_item(channel->queue.next, struct piece, link);
    cr_list_remove(&piece->link);
    free(piece);
  }
}

// Ends that are still connected are closed and live on by themselves.
static void channel_free(struct channel *channel) {
  for (int side = WRITER; side <= READER; side++)
    if (channel->ends[side]) {
      channel->ends[side]->channel = NULL;
      cr_conn_close(channel->ends[side]->conn, 1000, "channel_close");
    }
  queue_free(channel);
  HASH_DEL(channel->engine->channels, channel);
  channel->engine->channel_count--;
  free(channel);
}

static struct end *reader_of(struct channel *channel) {
  struct end *reader = channel->ends[READER];
  return reader && reader->open ? reader : NULL;
}

static int is_full(struct channel *channel) {
  struct end *reader = reader_of(channel);
  if (reader) return cr_conn_choked(reader->conn);
  return channel->queued >= channel->most || channel->bytes > CR_CONN_CHOKED;
}

static void hold_back(struct channel *channel) {
  if (channel->ends[WRITER] && is_full(channel)) cr_conn_pause(channel->ends[WRITER]->conn);
}

static void queue_flush(struct channel *channel, struct end *reader) {
  while (!cr_list_empty(&channel->queue)) {
    struct piece *piece = cr_list_item(channel->queue.next, struct piece, link);
    cr_conn_send(reader->conn, piece->opcode, piece->bytes, piece->length);
    cr_list_remove(&piece->link);
    free(piece);
  }
  channel->queued = channel->bytes = 0;
  if (channel->finished) cr_conn_close(reader->conn, 1000, "stream_complete");
}

static void on_opened(struct cr_conn *conn) {
  struct end *end = cr_conn_owner(conn);
  end->open = 1;
  if (!end->channel) {
    cr_conn_close(conn, 1008, "already connected");
    return;
  }
  if (end->side == READER) queue_flush(end->channel, end);
  if (end->channel->ends[WRITER] && !is_full(end->channel)) cr_conn_resume(end->channel->ends[WRITER]->conn);
}

static void on_message(struct cr_conn *conn, enum cr_opcode opcode, const uint8_t *bytes, size_t length) {
  struct end *end = cr_conn_owner(conn);
  struct channel *channel = end->channel;
  if (!channel || end->side != WRITER) return;
  struct end *reader = reader_of(channel);
  if (reader) {
    cr_conn_send(reader->conn, opcode, bytes, length);
  } else {
    struct piece *piece = cr_alloc(sizeof *piece + length);
    piece->opcode = opcode;
    piece->length = length;
    if (length) memcpy(piece->bytes, bytes, length);
    cr_list_append(&channel->queue, &piece->link);
    channel->queued++;
    channel->bytes += length;
  }
  hold_back(channel);
}

static void on_drained(struct cr_conn *conn) {
  struct end *end = cr_conn_owner(conn);
  struct channel *channel = end->channel;
  if (channel && end->side == READER && channel->ends[WRITER]) cr_conn_resume(channel->ends[WRITER]->conn);
}

static void on_closed(struct cr_conn *conn, const char *why) {
  (void)why;
  struct end *end = cr_conn_owner(conn);
  struct channel *channel = end->channel;
  if (channel) {
    channel->ends[end->side] = NULL;
    channel->finished = 1;
    struct end *reader = reader_of(channel);
    if (end->side == READER || (channel->taken[READER] && !channel->ends[READER]))
      channel_free(channel);
    else if (reader)
      queue_flush(channel, reader);
  }
  free(end);
}

static const struct cr_conn_events end_events = {
    .opened = on_opened, .message = on_message, .drained = on_drained, .closed = on_closed};

int cr_channel_request(struct cr_engine *engine, struct cr_conn *conn, const char *id, const char *query) {
  char key[64], direction[16];
  struct channel *channel = NULL;
  HASH_FIND_STR(engine->channels, id, channel);
  cr_handshake_argument(query, "key", key, sizeof key);
  cr_handshake_argument(query, "dir", direction, sizeof direction);
  int reads = !strcmp(direction, "read");
  if (!channel || strcmp(key, channel->key) != 0 || (!reads && strcmp(direction, "write") != 0)) return 404;
  enum side side = reads ? READER : WRITER;
  struct end *end = cr_alloc(sizeof *end);
  *end = (struct end){.channel = channel->taken[side] ? NULL : channel, .side = side, .conn = conn};
  if (end->channel) channel->ends[side] = end;
  channel->taken[side] = 1;
  cr_conn_set_owner(conn, &end_events, end);
  return 0;
}

static size_t buffer_size(yyjson_val *input) {
  const char *text = yyjson_get_raw(yyjson_obj_get(input, "buffer_size"));
  long size = text ? strtol(text, NULL, 10) : BUFFER_DEFAULT;
  return size < 1 ? 1 : size > BUFFER_MOST ? BUFFER_MOST : (size_t)size;
}

static void write_end(struct cr_writer *writer, const char *name, const struct channel *channel,
                      const char *direction) {
  cr_write_json(writer, name, "", 0);
  if (writer->failed) return;
  struct cr_writer end = cr_writer_open(writer->buf);
  cr_write_text(&end, "channel_id", channel->id);
  cr_write_text(&end, "access_key", channel->key);
  cr_write_text(&end, "direction", direction);
  writer->failed |= cr_writer_close(&end);
}

static void create(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  if (engine->channel_count >= CHANNELS_MAX) {
    cr_answer_error(invocation, "CHANNEL_LIMIT", "there are %d channels already", CHANNELS_MAX);
    return;
  }
  struct channel *channel = cr_alloc(sizeof *channel);
  channel->engine = engine;
  channel->most = buffer_size(input);
  channel->made = uv_now(engine->loop);
  cr_uuid(channel->id);
  cr_uuid(channel->key);
  cr_list_init(&channel->queue);
  HASH_ADD_STR(engine->channels, id, channel);
  engine->channel_count++;
  cr_autobuf json = CR_BUF(4096);
  struct cr_writer writer = cr_writer_open(&json);
  write_end(&writer, "writer", channel, "write");
  write_end(&writer, "reader", channel, "read");
  cr_writer_close(&writer);
  cr_answer_json(invocation, (const char *)json.data, json.len);
}

static void on_sweep(struct cr_alarm *alarm) {
  struct cr_engine *engine = cr_list_item(alarm, struct cr_engine, sweep);
  struct channel *channel, *next;
  HASH_ITER(hh, engine->channels, channel, next) {
    int connected = channel->taken[WRITER] && channel->taken[READER];
    if (!connected && uv_now(engine->loop) - channel->made >= UNUSED_MS) channel_free(channel);
  }
  cr_alarm_set(engine->alarms, alarm, SWEEP_MS);
}

void cr_channels_start(struct cr_engine *engine) {
  cr_builtin_register(engine, "engine::channels::create", "A byte stream between two workers", create);
  engine->sweep.ring = on_sweep;
  cr_alarm_set(engine->alarms, &engine->sweep, SWEEP_MS);
}

void cr_channels_free(struct cr_engine *engine) {
  cr_alarm_clear(engine->alarms, &engine->sweep);
  struct channel *channel, *next;
  HASH_ITER(hh, engine->channels, channel, next) channel_free(channel);
}
