import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** For test/browser/failing.test.ts alone, which wants these to fail. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    include: ['*.ts'],
    exclude: ['*.config.ts'],
    isolate: false,
  },
});
