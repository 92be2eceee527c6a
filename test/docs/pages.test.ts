import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { commands } from '../../src/service/cli/commands.ts';
import { readOnly } from '../service/cli/run-main.ts';
import { codeIn, docs, security, selfHosting, shipped, snippetsIn } from './pages.ts';

describe.each([selfHosting, security])('docs/$name', (page) => {
  test('shows the files as they are shipped', async () => {
    const shown = [...page.text.matchAll(/^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$/gms)];
    expect(shown).toHaveLength((page.text.match(/<!-- file: /g) ?? []).length);
    for (const [, path = '', text] of shown) expect(text, path).toBe(await shipped(path));
  });

  test('has links that lead somewhere', async () => {
    const anchors = (text: string) =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
    for (const [, link = ''] of page.text.matchAll(/\]\(([^)]+)\)/g)) {
      const [path = '', anchor] = link.split('#');
      await access(new URL(path === '' ? page.name : path, docs));
      if (anchor !== undefined) expect(anchors(path === '' ? page.text : await shipped(path)), link).toContain(anchor);
    }
  });

  test('has no wrong word in its shell', async () => {
    const scripts = snippetsIn(page).filter(({ language }) => language === 'sh');
    for (const { text } of scripts) await promisify(execFile)('bash', ['-n', '-c', text]);
  });

  test('has YAML that can be read', () => {
    for (const { language, text } of snippetsIn(page)) {
      if (language === 'yaml') expect(parseDocument(text, { stringKeys: true }).errors).toEqual([]);
    }
  });

  test('has only lines of commands that the command accepts', async () => {
    const scripts = snippetsIn(page)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'));
    const lines = [...scripts, ...codeIn(page)].filter((line) => line.startsWith('workspace-service '));
    const environment = { WORKSPACE_SERVICE_REMOTE: 'https://ada:password@git.example.com/game.git' };
    for (const line of lines) {
      const { code, stderr } = await readOnly(line.split(' ').slice(1), environment);
      expect({ code, stderr }, line).toEqual({ code: 0, stderr: '' });
    }
  });

  test('names only commands and flags that there are', () => {
    const flags = new Set([...commands.flatMap((command) => Object.keys(command.flags)), 'help']);
    const groups = new Set(commands.map(({ name }) => name.split(' ')[0]));
    for (const code of codeIn(page)) {
      const [first, second, ...rest] = code.split(' ');
      if (groups.has(first) && second !== undefined && /^[a-z]/.test(second)) {
        expect(commands.map(({ name }) => name)).toContain(`${first} ${second}`);
        const command = commands.find(({ name }) => name === `${first} ${second}`);
        const known = Object.keys(command?.flags ?? {});
        for (const word of rest) if (word.startsWith('--')) expect(known, code).toContain(word.slice(2));
      }
      const [, flag] = /^--([a-z-]+)/.exec(code) ?? [];
      if (flag !== undefined) expect(flags, code).toContain(flag);
    }
  });
});
