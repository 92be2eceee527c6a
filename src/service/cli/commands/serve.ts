import { defineCommand } from '../command.ts';
import { serveFlags } from '../serve/settings.ts';
import { storageVariables } from '../storage-command.ts';

export const serve = defineCommand({
  name: 'serve',
  summary: 'run the service',
  details: [
    'It speaks plain HTTP: put a proxy with TLS in front of it before other machines use it.',
    'SIGTERM or SIGINT stops it gracefully; a second signal, at least a second later, stops it at once.',
  ],
  variables: storageVariables,
  flags: serveFlags,
  example: '--dev',
  async run({ flags, environment, io }) {
    // Only this command needs the whole service to be read.
    const { serve } = await import('../serve/serve.ts');
    await serve(flags, environment, io);
  },
});
