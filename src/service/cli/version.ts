import { readFileSync } from 'node:fs';

/** From package.json, which is equally far above the sources and the build. */
export function version(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  // The package's own file, which the tests of the package read too.
  return (JSON.parse(text) as { readonly version: string }).version;
}
