import { request as httpRequest } from 'node:http';
import { type Answer, type OtherServer, startOtherServer } from './other-server.ts';
import { page } from './responses.ts';

/** Forwards a request to another server, and returns its response. */
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

/** Whether the path has an encoded slash; queries may contain them anywhere. */
const hasEncodedSlash = (target: string): boolean => /^[^?]*%2f/i.test(target);

/** Apache with `AllowEncodedSlashes Off`, its default: it responds 404 to URLs with an encoded slash. */
export function startApacheLike(toPort: number): Promise<OtherServer> {
  const pass = passOn(toPort);
  return startOtherServer((response, request) => {
    if (hasEncodedSlash(request.url)) page(404)(response, request);
    else pass(response, request);
  });
}

/** nginx with a path in `proxy_pass`: it decodes the URL, and forwards the result. */
export const startDecodingProxy = (toPort: number): Promise<OtherServer> =>
  startOtherServer(passOn(toPort, (target) => target.replaceAll(/%2f/gi, '/')));

/** A proxy that treats an encoded slash as an attack. */
export function startStrictProxy(toPort: number, status: number): Promise<OtherServer> {
  const pass = passOn(toPort);
  return startOtherServer((response, request) => {
    if (hasEncodedSlash(request.url)) page(status)(response, request);
    else pass(response, request);
  });
}
