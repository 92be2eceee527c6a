import { lookup } from 'node:dns/promises';
import { unlessAborted } from '../../interface/timers.ts';
import { addressInHost, type Cidr, isInside, parseIpAddress } from '../platform/ip-address.ts';
import { reachedBy, specialKindOf } from './special-addresses.ts';

/** All addresses of a name. It rejects, or gives none, when the name does not resolve. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export type Addresses = readonly [string, ...string[]];

export type Judgement =
  | { readonly kind: 'public' }
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly what: string };

/** Which addresses may be delivered to. */
export interface TargetCheck {
  /** The addresses behind the host of a URL; a host that is an address is its own answer. Rejects if there are none. */
  readonly addressesOf: (hostname: string, signal: AbortSignal) => Promise<Addresses>;
  readonly judge: (address: string) => Judgement;
}

interface Settings {
  /** What the operator allows beyond public addresses. */
  readonly allowedNetworks: readonly Cidr[];
  readonly resolve?: Resolve;
}

/** As every other program on the machine resolves names, `/etc/hosts` included. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

export function createTargetCheck({ allowedNetworks, resolve = systemResolve }: Settings): TargetCheck {
  return {
    async addressesOf(hostname, signal) {
      const literal = addressInHost(hostname);
      if (literal !== undefined) return [literal];
      signal.throwIfAborted();
      const [first, ...others] = await unlessAborted(resolve(hostname), signal);
      if (first === undefined) throw Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' });
      return [first, ...others];
    },
    judge(text) {
      const address = parseIpAddress(text);
      if (address === undefined) return { kind: 'refused', what: 'something that is not an address' };
      const reached = reachedBy(address);
      if (allowedNetworks.some((network) => isInside(address, network) || isInside(reached, network))) {
        return { kind: 'allowed' };
      }
      const what = specialKindOf(address);
      return what === undefined ? { kind: 'public' } : { kind: 'refused', what };
    },
  };
}
