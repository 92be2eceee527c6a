/** Who makes changes in tests that are not about the audit. */
export const operator = { name: 'operator:test', tokenId: null, address: null };
