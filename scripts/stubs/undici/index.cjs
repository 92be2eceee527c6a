'use strict';

exports.fetch = function fetchIsNotInThisBundle() {
  throw new Error("The fetch of undici is not part of this bundle. Use one's own instead.");
};

// The toolkit makes one as soon as it is loaded where a proxy is set, for the fetch above and nothing else.
exports.ProxyAgent = class ProxyAgent {};
