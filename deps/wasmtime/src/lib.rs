pub use wasmtime_c_api::*;

/// Settings that the C API has no functions for; its `wasm_config_t` is one `Config` and nothing else.
///
/// # Safety
/// `config` comes from `wasm_config_new`.
#[no_mangle]
pub unsafe extern "C" fn cr_wasm_config_tune(config: *mut wasm_config_t, stack: usize) {
    let config = unsafe { &mut *config.cast::<wasmtime::Config>() };
    config.async_stack_size(stack).table_lazy_init(false).generate_address_map(false).wasm_backtrace_max_frames(None);
}
