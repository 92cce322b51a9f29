// Random identifiers (RFC 9562, version 4) from getrandom(2).
#pragma once

#define CR_UUID_SIZE 37

void cr_uuid(char text[CR_UUID_SIZE]);
