import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

/** The least that a server of locks can do: a row for each lock, on disk before its response. Prints its port. */

const [file = ':memory:'] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec('pragma journal_mode = wal; pragma synchronous = full; create table locked (path text primary key)');
const lock = database.prepare('insert into locked values (?) on conflict do nothing');
const release = database.prepare('delete from locked where path = ?');

const server = createServer(async (request, response) => {
  const { method, url = '' } = request;
  if (method === 'DELETE') {
    const { changes } = release.run(decodeURIComponent(url.slice(url.lastIndexOf('/') + 1)));
    response.writeHead(changes === 1 ? 204 : 404).end();
    return;
  }
  let body = '';
  request.setEncoding('utf8');
  for await (const text of request) body += text;
  const { path } = JSON.parse(body);
  const { changes } = lock.run(path);
  response.writeHead(changes === 1 ? 201 : 409, { 'content-type': 'application/json' }).end(JSON.stringify({ path }));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
// An AddressInfo, as it listens on a port.
process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
