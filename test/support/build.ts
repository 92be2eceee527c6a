import { compile } from '../../compile.ts';

/** Tests that start the installed command run what is in `build/`, so it has to be what is in `src/`. */
export default function build(): void {
  compile({ anew: false });
}
