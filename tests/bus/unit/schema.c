#include "unit.h"

#include "bus/engine/schema.h"

static const struct {
  const char *schema, *value;
  const char *errors;  // NULL: valid
} table[] = {
    {"true", "1", NULL},
    {"{}", "[1]", NULL},
    {"false", "1", "False schema does not allow 1"},
    {"{\"type\":\"integer\"}", "\"x\"", "\"x\" is not of type \"integer\""},
    {"{\"type\":\"integer\"}", "1.0", NULL},
    {"{\"type\":\"integer\"}", "123456789012345678901234567890", NULL},
    {"{\"type\":[\"string\",\"null\"]}", "1", "1 is not of types [\"string\",\"null\"]"},
    {"{\"type\":\"boolean\"}", "true", NULL},
    {"{\"enum\":[1,\"a\",null]}", "1.0", NULL},
    {"{\"enum\":[1,\"a\"]}", "2", "2 is not one of [1,\"a\"]"},
    {"{\"const\":{\"a\":1,\"b\":2}}", "{\"b\":2,\"a\":1}", NULL},
    {"{\"const\":1}", "2", "1 was expected"},
    {"{\"required\":[\"a\",\"b\"]}", "{}", "\"a\" is a required property; \"b\" is a required property"},
    {"{\"properties\":{\"a\":{\"type\":\"null\"}}}", "{\"a\":1,\"b\":2}", "1 is not of type \"null\""},
    {"{\"properties\":{\"a\":{}},\"patternProperties\":{\"^x\":{}},\"additionalProperties\":false}",
     "{\"a\":1,\"xy\":2,\"b\":3}", "Additional properties are not allowed ('b' was unexpected)"},
    {"{\"additionalProperties\":{\"type\":\"number\"}}", "{\"a\":\"x\"}", "\"x\" is not of type \"number\""},
    {"{\"patternProperties\":{\"^n\":{\"type\":\"number\"}}}", "{\"n1\":\"x\",\"m\":\"x\"}",
     "\"x\" is not of type \"number\""},
    {"{\"propertyNames\":{\"maxLength\":2}}", "{\"abc\":1}", "\"abc\" has more than 2 characters"},
    {"{\"minProperties\":1}", "{}", "{} has less than 1 properties"},
    {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "\"b\" is a required property"},
    {"{\"dependencies\":{\"a\":{\"required\":[\"c\"]}}}", "{\"a\":1}", "\"c\" is a required property"},
    {"{\"minimum\":1}", "0", "0 is less than the minimum of 1"},
    {"{\"maximum\":1.5}", "2", "2 is greater than the maximum of 1.5"},
    {"{\"exclusiveMinimum\":1}", "1", "1 is less than or equal to the minimum of 1"},
    {"{\"exclusiveMaximum\":1}", "0.5", NULL},
    {"{\"multipleOf\":0.1}", "0.3", NULL},
    {"{\"multipleOf\":2}", "3", "3 is not a multiple of 2"},
    {"{\"minimum\":1}", "\"text\"", NULL},
    {"{\"minLength\":2}", "\"\xc3\xa4\"", "\"\xc3\xa4\" has less than 2 characters"},
    {"{\"pattern\":\"^\\\\d+$\"}", "\"12\"", NULL},
    {"{\"pattern\":\"^a\"}", "\"ba\"", "\"ba\" does not match \"^a\""},
    {"{\"items\":{\"type\":\"number\"},\"maxItems\":2}", "[1,2,3]", "[1,2,3] has more than 2 items"},
    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"number\"}}", "[\"a\",1,\"b\"]",
     "\"b\" is not of type \"number\""},
    {"{\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[\"a\",1]", "False schema does not allow 1"},
    {"{\"uniqueItems\":true}", "[{\"a\":1},{\"a\":1.0}]", "[{\"a\":1},{\"a\":1.0}] has non-unique elements"},
    {"{\"uniqueItems\":true}", "[1,\"1\",true]", NULL},
    {"{\"contains\":{\"type\":\"number\"}}", "[\"a\"]", "the array contains 0 matching items, which is not allowed"},
    {"{\"contains\":{\"type\":\"number\"},\"minContains\":0}", "[]", NULL},
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":0}]}", "0.5",
     "0.5 is less than the minimum of 1; 0.5 is greater than the maximum of 0"},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "1",
     "1 is not valid under any of the schemas listed in the 'anyOf' keyword"},
    {"{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3",
     "3 is valid under more than one of the schemas listed in the 'oneOf' keyword"},
    {"{\"not\":{\"type\":\"null\"}}", "null", "{\"type\":\"null\"} is not allowed for null"},
    {"{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5},\"else\":{\"const\":1}}", "7", "7 is not a multiple of 5"},
    {"{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5},\"else\":{\"const\":1}}", "1", NULL},
    {"{\"$ref\":\"#/$defs/a~1b\",\"$defs\":{\"a/b\":{\"type\":\"null\"}}}", "1", "1 is not of type \"null\""},
    {"{\"$ref\":\"#x\",\"$defs\":{\"q\":{\"$anchor\":\"x\",\"type\":\"null\"}}}", "null", NULL},
    {"{\"properties\":{\"next\":{\"$ref\":\"#\"}},\"required\":[\"v\"]}", "{\"v\":1,\"next\":{\"next\":{\"v\":1}}}",
     "\"v\" is a required property"},
    {"7", "1", "invalid JSON Schema: a schema must be an object or a boolean"},
    {"{\"type\":\"text\"}", "1", "invalid JSON Schema: `type` names an unknown type"},
    {"{\"pattern\":\"(\"}", "\"x\"", "invalid JSON Schema: a pattern is not a regular expression"},
    {"{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
     "invalid JSON Schema: a pattern takes too long to match"},
    {"{\"$ref\":\"#/nowhere\"}", "1", "invalid JSON Schema: a `$ref` points nowhere, or out of the schema"},
    {"{\"$ref\":\"#\"}", "1", "invalid JSON Schema: too much work, or it refers to itself without end"},
    {"{\"minimum\":\"x\"}", "1", "invalid JSON Schema: a limit is not a number"},
    {"{\"maxLength\":-1}", "\"\"", "invalid JSON Schema: a size limit is not a whole number"},
};

static void check(size_t i, yyjson_read_flag flags) {
  yyjson_doc *schema = yyjson_read_opts((char *)table[i].schema, strlen(table[i].schema), flags, NULL, NULL);
  yyjson_doc *value = yyjson_read_opts((char *)table[i].value, strlen(table[i].value), flags, NULL, NULL);
  assert_non_null(schema);
  assert_non_null(value);
  cr_autobuf errors = CR_BUF(65536);
  int failed = cr_schema_check(yyjson_doc_get_root(schema), yyjson_doc_get_root(value), &errors);
  cr_buf_append(&errors, "", 1);
  assert_string_equal((const char *)errors.data, table[i].errors ? table[i].errors : "");
  assert_int_equal(failed, table[i].errors ? -1 : 0);
  yyjson_doc_free(schema);
  yyjson_doc_free(value);
}

static void the_table_holds_with_raw_numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) check(i, YYJSON_READ_NUMBER_AS_RAW);
}

static void the_table_holds_with_converted_numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) check(i, YYJSON_READ_BIGNUM_AS_RAW);
}

static void the_number_of_errors_is_bounded(void **state) {
  (void)state;
  cr_autobuf text = CR_BUF(1 << 20), errors = CR_BUF(65536);
  cr_buf_puts(&text, "[0");
  for (int i = 0; i < 1000; i++) cr_buf_puts(&text, ",0");
  cr_buf_puts(&text, "]");
  yyjson_doc *schema = yyjson_read("{\"items\":{\"type\":\"string\"}}", 27, 0);
  yyjson_doc *value = yyjson_read((const char *)text.data, text.len, 0);
  assert_int_equal(cr_schema_check(yyjson_doc_get_root(schema), yyjson_doc_get_root(value), &errors), -1);
  assert_true(errors.len < 1000);
  yyjson_doc_free(schema);
  yyjson_doc_free(value);
}

UNIT_MAIN(T(the_table_holds_with_raw_numbers), T(the_table_holds_with_converted_numbers),
          T(the_number_of_errors_is_bounded))
