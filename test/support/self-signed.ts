import { execFileSync } from 'node:child_process';

/** A certificate for a name and for this machine, signed with its own key. */
export function selfSigned(dnsName: string): { readonly key: string; readonly cert: string } {
  const subject = ['-subj', `/CN=${dnsName}`, '-addext', `subjectAltName=DNS:${dnsName},IP:127.0.0.1`];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const made = execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', '-', '-out', '-'], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
  const place = made.indexOf('-----BEGIN CERTIFICATE');
  return { key: made.slice(0, place), cert: made.slice(place) };
}
