// The manifest of contract 15.5, pretty-printed on standard output.
#pragma once

void cr_cli_manifest(void);
