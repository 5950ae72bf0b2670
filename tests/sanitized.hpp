// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// LINDYN_SANITIZED is defined where a sanitizer watches over memory, and has a malloc of its own.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LINDYN_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LINDYN_SANITIZED 1
#endif
#endif
