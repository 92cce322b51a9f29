/** What the worker uses for a number that the configuration leaves out. */
export const DEFAULTS = {
  max_result_bytes: 32768,
  max_stream_bytes: 16384,
  default_timeout_ms: 5000,
  max_timeout_ms: 30000,
  max_runtimes: 32,
  idle_ttl_secs: 900,
  heap_mb: 128,
  external_mb: 64,
  scratch_mb: 8,
  scratch_files: 64,
} as const;

export type NumberKey = keyof typeof DEFAULTS;
