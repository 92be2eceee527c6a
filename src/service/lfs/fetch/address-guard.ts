import type { IpAddresses, TargetCheck } from '../../outbound/target-address.ts';
import { toStoreError } from './store-error.ts';

/** Decision about a URL, as plain data for the download thread. */
type CheckedAddress =
  | { readonly kind: 'allowed'; readonly addresses: IpAddresses }
  /** `reason` is a sentence. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `reason` completes "…: ". */
  | { readonly kind: 'not-found'; readonly reason: string };

export type AddressGuard = (url: URL, signal: AbortSignal) => Promise<CheckedAddress>;

/** Allows URLs of a store whose addresses `targets` allows, and all URLs that the operator has configured. */
export const createAddressGuard =
  (targets: TargetCheck, workspace: string, isConfigured: (url: URL) => boolean): AddressGuard =>
  async (url, signal) => {
    let addresses: IpAddresses;
    try {
      addresses = await targets.addressesOf(url.hostname, `lfs ${workspace}`, signal);
    } catch (error) {
      return { kind: 'not-found', reason: toStoreError(error).message };
    }
    for (const address of isConfigured(url) ? [] : addresses) {
      const verdict = targets.checkAddress(address);
      if (verdict.kind === 'allowed' || (verdict.kind === 'public' && url.protocol === 'https:')) continue;
      const addressKind = verdict.kind === 'public' ? 'a public address without encryption' : verdict.addressKind;
      const reason = `The LFS store returned a URL at ${url.origin}, which resolves to ${addressKind}. Only public addresses over https and the networks of --allow-hook-network are allowed.`;
      return { kind: 'refused', reason };
    }
    return { kind: 'allowed', addresses };
  };
