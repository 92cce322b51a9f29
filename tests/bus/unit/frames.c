#include "unit.h"

#include "bus/frames.h"

struct scene {
  struct cr_buf from_client, from_server;
  struct cr_frames *client, *server;
  char last[256];
  size_t length;
  int count;
};

static void on_message(void *of, enum cr_opcode opcode, const uint8_t *bytes, size_t length) {
  struct scene *scene = of;
  scene->count++;
  scene->length = length;
  memset(scene->last, 0, sizeof scene->last);
  if (length && length < sizeof scene->last) memcpy(scene->last, bytes, length);
  assert_true(opcode == CR_TEXT || opcode == CR_BINARY);
}

static void start(struct scene *scene) {
  memset(scene, 0, sizeof *scene);
  scene->from_client = scene->from_server = CR_BUF(80u << 20);
  struct cr_frames_options client = {1, CR_MESSAGE_BYTES_MAX, &scene->from_client, on_message, scene};
  struct cr_frames_options server = {0, CR_FRAME_BYTES_MAX, &scene->from_server, on_message, scene};
  scene->client = cr_frames_create(&client);
  scene->server = cr_frames_create(&server);
}

static void stop(struct scene *scene) {
  cr_frames_free(scene->client);
  cr_frames_free(scene->server);
  cr_buf_free(&scene->from_client);
  cr_buf_free(&scene->from_server);
}

// Moves what the client said to the server in pieces.
static int move(struct scene *scene, size_t step) {
  int result = 0;
  for (size_t at = 0; at < scene->from_client.len && !result; at += step) {
    size_t left = scene->from_client.len - at;
    result = cr_frames_feed(scene->server, scene->from_client.data + at, left < step ? left : step);
  }
  scene->from_client.len = 0;
  return result;
}

static void messages_arrive_however_they_are_cut(void **state) {
  (void)state;
  for (size_t step = 1; step < 9; step++) {
    struct scene scene;
    start(&scene);
    cr_frames_send(scene.client, CR_TEXT, "hello", 5);
    cr_frames_send(scene.client, CR_PING, "p", 1);
    cr_frames_send(scene.client, CR_BINARY, "", 0);
    assert_int_equal(move(&scene, step), 0);
    assert_int_equal(scene.count, 2);
    static const uint8_t pong[] = {0x8a, 1, 'p'};
    assert_int_equal(scene.from_server.len, sizeof pong);
    assert_memory_equal(scene.from_server.data, pong, sizeof pong);
    stop(&scene);
  }
}

static void a_frame_at_the_limit_passes_and_one_over_it_does_not(void **state) {
  (void)state;
  char *bytes = malloc(CR_FRAME_BYTES_MAX + 1);
  memset(bytes, 'x', CR_FRAME_BYTES_MAX + 1);
  struct scene scene;
  start(&scene);
  cr_frames_send(scene.client, CR_TEXT, bytes, CR_FRAME_BYTES_MAX);
  assert_int_equal(move(&scene, 65536), 0);
  assert_int_equal(scene.length, CR_FRAME_BYTES_MAX);
  cr_frames_send(scene.client, CR_TEXT, bytes, CR_FRAME_BYTES_MAX + 1);
  assert_int_equal(move(&scene, 65536), 1);
  static const uint8_t close[] = {0x88, 2, 0x03, 0xf1};
  assert_memory_equal(scene.from_server.data + scene.from_server.len - sizeof close, close, sizeof close);
  free(bytes);
  stop(&scene);
}

static void close_is_echoed_and_is_the_last(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  assert_int_equal(cr_frames_close_status(scene.server), 0);
  cr_frames_close(scene.client, 0, NULL);
  assert_int_equal(cr_frames_send(scene.client, CR_TEXT, "x", 1), -1);
  assert_int_equal(move(&scene, 65536), 1);
  assert_int_equal(cr_frames_close_status(scene.server), 1005);
  assert_int_equal(cr_frames_feed(scene.client, scene.from_server.data, scene.from_server.len), 1);
  stop(&scene);
}

static void deaf_frames_deliver_nothing(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  cr_frames_send(scene.client, CR_TEXT, "x", 1);
  cr_frames_deafen(scene.server);
  move(&scene, 65536);
  assert_int_equal(scene.count, 0);
  stop(&scene);
}

static void a_full_output_ends_it(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  scene.from_client.max = 8;
  assert_int_equal(cr_frames_send(scene.client, CR_TEXT, "0123456789", 10), -1);
  stop(&scene);
}

UNIT_MAIN(T(messages_arrive_however_they_are_cut), T(a_frame_at_the_limit_passes_and_one_over_it_does_not),
          T(close_is_echoed_and_is_the_last), T(deaf_frames_deliver_nothing), T(a_full_output_ends_it))
