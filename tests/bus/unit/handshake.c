#include "unit.h"

#include "bus/handshake.h"
#include "bus/sha1.h"
#include "bus/url.h"

static void sha1_of_known_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint8_t start[4];
  } table[] = {{"", {0xda, 0x39, 0xa3, 0xee}},
               {"abc", {0xa9, 0x99, 0x3e, 0x36}},
               {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", {0x84, 0x98, 0x3e, 0x44}}};
  for (size_t i = 0; i < 3; i++) {
    uint8_t digest[CR_SHA1_SIZE];
    cr_sha1(table[i].text, strlen(table[i].text), digest);
    assert_memory_equal(digest, table[i].start, 4);
  }
}

static void sha1_at_block_borders(void **state) {
  (void)state;
  // Lengths around the places where the padding needs another block, of the letter a.
  static const struct {
    size_t length;
    uint8_t start[4];
  } table[] = {{55, {0xc1, 0xc8, 0xbb, 0xdc}},
               {56, {0xc2, 0xdb, 0x33, 0x0f}},
               {64, {0x00, 0x98, 0xba, 0x82}},
               {119, {0xee, 0x97, 0x10, 0x65}}};
  char text[128];
  memset(text, 'a', sizeof text);
  for (size_t i = 0; i < 4; i++) {
    uint8_t digest[CR_SHA1_SIZE];
    cr_sha1(text, table[i].length, digest);
    assert_memory_equal(digest, table[i].start, 4);
  }
}

static void base64_of_rfc_4648(void **state) {
  (void)state;
  static const char *const table[][2] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < 5; i++) {
    char text[16];
    cr_base64(table[i][0], strlen(table[i][0]), text);
    assert_string_equal(text, table[i][1]);
  }
}

static void accept_key_of_rfc_6455(void **state) {
  (void)state;
  char accept[CR_ACCEPT_SIZE];
  cr_handshake_accept("dGhlIHNhbXBsZSBub25jZQ==", accept);
  assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#define HEAD                                                              \
  "Host: x\r\nUPGRADE: WebSocket\r\nconnection: keep-alive , upgrade\r\n" \
  "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

static void request_is_read(void **state) {
  (void)state;
  static const char text[] = "GET /a/b?x=%41+b&y= HTTP/1.1\r\nOrigin:  http://o \r\n" HEAD "rest";
  struct cr_handshake_request request;
  assert_int_equal(cr_handshake_request_read(&request, text, sizeof text - 1), sizeof text - 5);
  assert_int_equal(request.upgrade, 1);
  assert_string_equal(request.path, "/a/b");
  assert_string_equal(request.origin, "http://o");
  char value[8];
  assert_int_equal(cr_handshake_argument(request.query, "x", value, sizeof value), 1);
  assert_string_equal(value, "A+b");
  assert_int_equal(cr_handshake_argument(request.query, "z", value, sizeof value), 0);
}

static void request_in_pieces_is_waited_for(void **state) {
  (void)state;
  static const char text[] = "GET / HTTP/1.1\r\n" HEAD;
  struct cr_handshake_request request;
  for (size_t length = 0; length < sizeof text - 1; length++)
    assert_int_equal(cr_handshake_request_read(&request, text, length), 0);
  assert_int_equal(cr_handshake_request_read(&request, text, sizeof text - 1), sizeof text - 1);
}

static void unusable_requests_have_a_status(void **state) {
  (void)state;
  static const struct {
    const char *text;
    ssize_t result;
  } table[] = {{"POST / HTTP/1.1\r\n\r\n", -405},
               {"GET / HTTP/1.0\r\n\r\n", -400},
               {"GET x HTTP/1.1\r\n\r\n", -400},
               {"GET / HTTP/1.1\r\nbad\r\n\r\n", -400},
               {"\r\n\r\n", -400},
               {"GET / HTTP/1.1\r\n: x\r\n\r\n", -400}};
  struct cr_handshake_request request;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    assert_int_equal(cr_handshake_request_read(&request, table[i].text, strlen(table[i].text)), table[i].result);
}

static ssize_t response(const char *text) {
  int status = 0;
  return cr_handshake_response_read(text, strlen(text), "dGhlIHNhbXBsZSBub25jZQ==", &status);
}

static void responses_are_checked(void **state) {
  (void)state;
#define OK "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
#define ACCEPT "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
  assert_true(response(OK ACCEPT "\r\n") > 0);
  assert_int_equal(response(OK ACCEPT), 0);
  assert_int_equal(response(OK "\r\n"), -1);
  assert_int_equal(response(OK "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO=\r\n\r\n"), -1);
  assert_int_equal(response(OK ACCEPT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"), -1);
  assert_int_equal(response("HTTP/1.1 404 x\r\n\r\n"), -1);
}

static void urls(void **state) {
  (void)state;
  struct cr_url url;
  assert_int_equal(cr_url_read(&url, "ws://127.0.0.1:49134", NULL), 0);
  assert_string_equal(url.host, "127.0.0.1");
  assert_int_equal(url.port, 49134);
  assert_string_equal(url.target, "/");
  assert_int_equal(cr_url_read(&url, "WS://[::1]:8/p?q#f", NULL), 0);
  assert_string_equal(url.host, "::1");
  assert_string_equal(url.authority, "[::1]:8");
  assert_string_equal(url.target, "/p?q");
  assert_int_equal(cr_url_read(&url, "ws://h?q", NULL), 0);
  assert_int_equal(url.port, 80);
  assert_string_equal(url.target, "/?q");
  static const char *const bad[] = {"",         "http://x", "wss://x",     "ws://",        "ws://:1",
                                    "ws://x:",  "ws://x:0", "ws://x:a",    "ws://x:65536", "ws://[::1",
                                    "ws://a b", "ws://u@h", "ws://x\r\ny", "ws://[::1]x"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(cr_url_read(&url, bad[i], NULL), -1);
}

UNIT_MAIN(T(sha1_of_known_texts), T(sha1_at_block_borders), T(base64_of_rfc_4648), T(accept_key_of_rfc_6455),
          T(request_is_read), T(request_in_pieces_is_waited_for), T(unusable_requests_have_a_status),
          T(responses_are_checked), T(urls))
