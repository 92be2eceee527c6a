'use strict';

const unavailable = (name) =>
  function unavailableInThisBundle() {
    throw new Error(`${name} of undici is not part of this bundle. Use a fetch or an agent of one's own instead.`);
  };

exports.ProxyAgent = unavailable('ProxyAgent');
exports.fetch = unavailable('fetch');
