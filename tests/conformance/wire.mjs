// Bytes of the sandbox plane, as the SDKs send them.
import net from 'node:net'
import { plane, url } from './harness.mjs'

const { hostname, port } = new URL(url)

export const envelope = (message, flag = 0) => {
  const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}
export function* frames(bytes) {
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32BE(at + 1)
    yield { flag: bytes[at], message: JSON.parse(bytes.subarray(at + 5, at + 5 + size)) }
    at += 5 + size
  }
}
export const rpc = (one, method, body, headers = {}) => plane(one, `/${method}`, { method: 'POST', body,
  headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1', ...headers } })
export const unary = (one, method, message, options = {}) => plane(one, `/${method}`, { method: 'POST',
  body: typeof message === 'string' ? message : JSON.stringify(message), ...options,
  headers: { 'content-type': 'application/json', 'connect-protocol-version': '1', ...options.headers } })
export const all = async (response) => [...frames(Buffer.from(await response.arrayBuffer()))]
export const shell = (line) => ({ process: { cmd: '/bin/bash', args: ['-c', line] }, stdin: false })
// Bytes as they are, and the answer until the server closes or `until` matches.
export function raw(bytes, until) {
  return new Promise((resolve, reject) => {
    let seen = ''
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes))
    socket.setTimeout(30_000, () => socket.destroy(new Error('no answer: ' + seen)))
    socket.on('data', (piece) => {
      seen += piece.toString('latin1')
      if (until?.test(seen)) socket.destroy()
    })
    socket.on('close', () => resolve(seen))
    socket.on('error', reject)
  })
}
