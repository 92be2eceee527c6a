import { benchmarks } from './benchmarks.ts';
import { bench } from './command.ts';

// What a stopped benchmark still waits for keeps nobody waiting.
process.exit(await bench(process.argv.slice(2), benchmarks));
