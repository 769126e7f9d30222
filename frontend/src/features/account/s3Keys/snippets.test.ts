import { expect, test } from 'vitest';
import { snippet, TOOLS } from './snippets';

const KEY = { access_key_id: 'ATOM234567', secret_access_key: 'a-secret', endpoint_url: 'http://atom.example:8002' };

test.each(TOOLS)('what %s is given names the key, its secret and the endpoint', (tool) => {
  const text = snippet(tool, KEY);
  for (const part of [...Object.values(KEY), tool === 'aws' ? 'aws s3 ls' : tool]) expect(text).toContain(part);
});
