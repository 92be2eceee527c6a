import { CommandError } from '../../command/command.ts';
import { isLoopback } from '../../interface/loopback.ts';
import { cidr } from '../platform/ip-address.ts';
import type { ServeSettings } from './settings.ts';

export const loopbackNetworks = ['127.0.0.0/8', '::1/128'].map(cidr);

/** In development on a loopback address, the URL is known without a setting. */
export function publicUrlOf({ publicUrl, dev, host }: Pick<ServeSettings, 'publicUrl' | 'dev' | 'host'>, port: number) {
  return publicUrl ?? (dev && isLoopback(host) ? originAt(host, port) : undefined);
}

/** Explains why the server cannot listen. Other errors are returned unchanged. */
export function listenFailure(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  const unresolved = `The name ${host} does not resolve. Choose another with --host.`;
  const texts: Readonly<Record<string, string>> = {
    EADDRINUSE: `The port ${port} of ${host} is in use. Stop the process that listens there, or choose another port with --port (0 picks a free one).`,
    EACCES: `This user may not listen on the port ${port}. Choose a port above 1023 with --port.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Choose another with --host.`,
    ENOTFOUND: unresolved,
    EAI_AGAIN: unresolved,
  };
  const text = texts[String(error.code)];
  return text === undefined ? error : new CommandError(text);
}

export const originAt = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host.replace('%', '%25')}]` : host}:${port}`;

export const signInUrl = (origin: string, link: string): string => `${origin}/sign-in?link=${link}`;

/** Lines that show the link. It appears nowhere else. */
export const signInLines = (url: string): readonly string[] => [
  'This link signs you in to the dashboard as an administrator. It works once, within an hour:',
  '',
  `  ${url}`,
];

/** Default address of `serve`. */
export const defaultOrigin = 'http://127.0.0.1:8080';
