// Fetch over HTTP with a time-out and a bound on the answer.
'use strict';

async function fetchText(url, { timeout = 20000, limit = 5 << 20, ...options } = {}) {
  const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(timeout) });
  const pieces = [];
  let size = 0;
  for await (const piece of answer.body ?? []) {
    size += piece.length;
    pieces.push(piece);
    if (size > limit) break;
  }
  const body = Buffer.concat(pieces).subarray(0, limit);
  return { url: answer.url, status: answer.status, text: body.toString('utf8'), truncated: size > limit };
}

module.exports = { fetchText };
