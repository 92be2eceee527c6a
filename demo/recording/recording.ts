import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownLine } from '../terminal/log-lines.ts';
import { createCast } from './cast.ts';
import { drawSvg } from './svg.ts';

export interface Recording {
  readonly width: number;
  add(text: string): void;
  /** Writes what has been shown, and the picture, and gives the files. */
  save(picture: readonly ShownLine[]): Promise<readonly string[]>;
}

const title = 'npm run demo: two jobs want the same file';
const size = { width: 80, height: 24 } as const;

/** Records into the folder, or a new one. Before it is saved, nothing is written. */
export async function startRecording(folder: string | undefined): Promise<Recording> {
  // That it cannot be made is better known before than after.
  if (folder !== undefined) await mkdir(folder, { recursive: true });
  const cast = createCast(size.width, size.height, title);
  return {
    width: size.width,
    add: cast.add,
    async save(picture) {
      const place = folder ?? (await mkdtemp(join(tmpdir(), 'workspace-demo-recording-')));
      const prompt: readonly ShownLine[] = [
        { indent: 0, tone: 'quiet', text: '$ npm run demo' },
        { indent: 0, tone: 'plain', text: '' },
      ];
      const files = [
        [join(place, 'demo.cast'), cast.text()],
        [join(place, 'demo.svg'), drawSvg([...prompt, ...picture], title)],
      ] as const;
      for (const [file, text] of files) await writeFile(file, text);
      return files.map(([file]) => file);
    },
  };
}
