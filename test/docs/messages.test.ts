import { expect, test } from 'vitest';
import { messagesIn } from '../../scripts/messages.ts';
import { codeIn, readPage } from './pages.ts';

const messages = await messagesIn('src');

test('prints every message of the page about troubleshooting', async () => {
  const { sections } = await readPage('docs/troubleshooting.md');
  const texts = messages.map(({ text }) => text);
  const titles = sections.map(({ title }) => title).filter((title) => title.startsWith('`'));
  for (const title of titles) {
    const parts = (codeIn(title)[0] ?? '').split('…').map((part) => part.trim());
    const longest = parts.toSorted((one, other) => other.length - one.length)[0] ?? '';
    if (longest.split(' ').length > 3)
      expect(
        texts.some((text) => text.includes(longest)),
        title,
      ).toBe(true);
  }
});
