#define ASSET(symbol, path, type) \
  .globl cr_asset_##symbol; .globl cr_asset_##symbol##_end; \
  .hidden cr_asset_##symbol; .hidden cr_asset_##symbol##_end; \
  cr_asset_##symbol: .incbin path; cr_asset_##symbol##_end: .byte 0;

        .section .rodata
#include "assets.def"
        .section .note.GNU-stack, "", %progbits
