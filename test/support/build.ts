import { compile } from '../../scripts/compile.ts';

/** Tests that start the installed command run the code in `build/`, so it must match `src/`. */
export default function build(): void {
  compile({ anew: false });
}
