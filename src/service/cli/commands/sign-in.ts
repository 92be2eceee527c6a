import { makeSignInLink } from '../../sessions/sign-in-link.ts';
import { defaultOrigin, signInLines, signInUrl } from '../output/sign-in.ts';
import { publicUrl } from '../serve/settings.ts';
import { defineStorageCommand } from '../storage-command.ts';

export const signIn = defineStorageCommand({
  name: 'sign-in',
  summary: 'print a link that signs you in to the dashboard as administrator, once',
  flags: { publicUrl },
  example: '--public-url https://assets.example.com',
  mayBeNew: true,
  async run({ flags }, storage) {
    const link = signInUrl(flags.publicUrl ?? defaultOrigin, await makeSignInLink(storage));
    const unknown = `The service is taken to be at ${defaultOrigin}: with --public-url, or WORKSPACE_SERVICE_PUBLIC_URL, the link leads elsewhere.`;
    return {
      document: { sign_in_link: link },
      lines: [...signInLines(link), ...(flags.publicUrl === undefined ? ['', unknown] : [])],
    };
  },
});
