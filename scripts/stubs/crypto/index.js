/**
 * All that the toolkit asks of Node's crypto: the delimiter around an output or a state. It must not occur in the value,
 * which the toolkit checks itself; nothing depends on it being secret.
 */
export function randomUUID() {
  const hex = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
