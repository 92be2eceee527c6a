import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownLine } from '../terminal/log-lines.ts';
import { createCast } from './cast.ts';
import { drawSvg } from './svg.ts';

export interface Recording {
  readonly width: number;
  add(text: string): void;
  /** Writes the recording and the picture, and returns the names of the files. */
  save(picture: readonly ShownLine[]): Promise<readonly string[]>;
}

const title = 'npm run demo: two jobs need the same file';
const size = { width: 80, height: 24 } as const;

/** Starts a recording for the folder, or a new one. Files are written only when it is saved. */
export async function startRecording(folder: string | undefined): Promise<Recording> {
  // Created first, so that an error does not come after the demo.
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
