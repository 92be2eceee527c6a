import { readFileSync } from 'node:fs';

/** As the package says; it lies as far above the sources as above what is built from them. */
export function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  // The package's own file, which the tests of the package read too.
  return (JSON.parse(text) as { readonly version: string }).version;
}
