#pragma once

// Generators of random numbers that live in libraries: docs/decisions/randomness.md.
namespace atl::guest {

// Every OpenSSL that is loaded takes fresh randomness from the system. By itself it does so only when it
// notices another process number, which a copy in another sandbox does not have. Cheap where it has drawn
// before, which is why a zygote calls it once; five milliseconds where it has not.
void reseed_libraries();

}  // namespace atl::guest
