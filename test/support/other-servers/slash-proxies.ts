import { request as httpRequest } from 'node:http';
import type { Answer, OtherServer } from './other-server.ts';
import { page } from './responses.ts';
import { startOtherServer } from './start-other-server.ts';

/** Forwards a request to another server, and returns its response. */
export const passOn =
  (toPort: number, rewrite: (target: string) => string = (target) => target): Answer =>
  (response, request) => {
    const { method, url, headers, body } = request;
    const onward = httpRequest({ host: '127.0.0.1', port: toPort, method, path: rewrite(url), headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => page(502)(response, request));
    onward.end(body);
  };

/** Whether the path has an encoded slash; queries may contain them anywhere. */
const hasEncodedSlash = (target: string): boolean => /^[^?]*%2f/i.test(target);

/** nginx with a path in `proxy_pass`: it decodes the URL, and forwards the result. */
export const startDecodingProxy = (toPort: number): Promise<OtherServer> =>
  startOtherServer(passOn(toPort, (target) => target.replaceAll(/%2f/gi, '/')));

/** A proxy that rejects URLs with an encoded slash, such as Apache with `AllowEncodedSlashes Off`, its default. */
export function startStrictProxy(toPort: number, status = 404): Promise<OtherServer> {
  const pass = passOn(toPort);
  return startOtherServer((response, request) => {
    if (hasEncodedSlash(request.url)) page(status)(response, request);
    else pass(response, request);
  });
}
