//! Collects the validation layer's messages for tests and prints them for users.
#![allow(unsafe_code, reason = "Vulkan calls")]

use super::error::{failed, lock};
use crate::base::Result;
use ash::{ext::debug_utils, vk};
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

pub(super) struct Debug {
    functions: debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    // The mutex is boxed so that its address stays constant: the driver stores this address.
    messages: Box<Mutex<Vec<String>>>,
}

impl Debug {
    pub(super) fn new(entry: &ash::Entry, instance: &ash::Instance) -> Result<Self> {
        let functions = debug_utils::Instance::new(entry, instance);
        let messages: Box<Mutex<Vec<String>>> = Box::default();
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING,
            )
            // PERFORMANCE is left out: it warns about layout GENERAL, which `frame` uses on purpose.
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(hear))
            .user_data((&raw const *messages).cast_mut().cast());
        // SAFETY: the messages outlive the messenger: `destroy` is called before this struct is dropped.
        let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) }
            .map_err(failed("vkCreateDebugUtilsMessengerEXT"))?;
        Ok(Self { functions, messenger, messages })
    }

    pub(super) fn messages(&self) -> Vec<String> {
        lock(&self.messages).clone()
    }

    pub(super) fn destroy(&self) {
        // SAFETY: called once, by the device's drop, before the instance is destroyed.
        unsafe { self.functions.destroy_debug_utils_messenger(self.messenger, None) };
    }
}

unsafe extern "system" fn hear(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes valid data for the length of the call; `user` is the mutex that `Debug` keeps alive,
    // and all accesses to it are shared.
    let (text, messages) = unsafe {
        let text = if data.is_null() || (*data).p_message.is_null() {
            String::new()
        } else {
            CStr::from_ptr((*data).p_message).to_string_lossy().into_owned()
        };
        (text, &*user.cast::<Mutex<Vec<String>>>())
    };
    eprintln!("Vulkan validation: {text}");
    lock(messages).push(text);
    vk::FALSE
}
