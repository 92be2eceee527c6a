import { request as httpRequest } from 'node:http';
import { type Answer, type OtherServer, startOtherServer } from './other-server.ts';
import { page } from './responses.ts';

/** Hands a request on to another server, and its answer back. */
export const passOn =
  (toPort: number, rewrite: (target: string) => string = (target) => target): Answer =>
  (response, { method, url, headers, body }) => {
    const onward = httpRequest({ host: '127.0.0.1', port: toPort, method, path: rewrite(url), headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => page(502)(response, { method, url, headers, body }));
    onward.end(body);
  };

/** In the path; a query may have them anywhere. */
const hasEncodedSlash = (target: string): boolean => /^[^?]*%2f/i.test(target);

/** Apache with `AllowEncodedSlashes Off`, its default: it knows no address with an encoded slash. */
export function startApacheLike(toPort: number): Promise<OtherServer> {
  const pass = passOn(toPort);
  return startOtherServer((response, request) => {
    if (hasEncodedSlash(request.url)) page(404)(response, request);
    else pass(response, request);
  });
}

/** nginx with a path behind `proxy_pass`: it decodes the address, and hands on what it has become. */
export const startDecodingProxy = (toPort: number): Promise<OtherServer> =>
  startOtherServer(passOn(toPort, (target) => target.replaceAll(/%2f/gi, '/')));

/** What stands before a service and takes an encoded slash for an attack. */
export function startStrictProxy(toPort: number, status: number): Promise<OtherServer> {
  const pass = passOn(toPort);
  return startOtherServer((response, request) => {
    if (hasEncodedSlash(request.url)) page(status)(response, request);
    else pass(response, request);
  });
}
