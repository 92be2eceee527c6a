import { compile } from '../../scripts/compile.ts';

/** Tests that start the installed command run the file in `build/`, so it must match `src/`. */
export default async function build(): Promise<void> {
  await compile();
}
