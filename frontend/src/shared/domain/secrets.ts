import { $api, api } from '@/api/client';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { flushPending } from '../ui/pending';
import { useMay, useProject } from './project';

export const SECRETS = '/api/v1/projects/{project}/secrets/';
const SECRET = '/api/v1/projects/{project}/secrets/{name}/';

/** The secrets of the project, without their values; none for who may not start runs. */
export function useSecrets() {
  const project = useProject();
  const may = useMay('researcher');
  const init = { params: { path: { project }, query: { limit: 200 } } };
  return useKeysetRows($api.useInfiniteQuery('get', SECRETS, init, { ...KEYSET, enabled: may }));
}

/** Names a secret for `confirmUndo`: its removal must not come after it is set anew. */
export const aboutSecret = (project: string, name: string) => `secret ${project}/${name}`;

export async function setSecret(project: string, name: string, body: { value: string; description?: string }) {
  await flushPending(aboutSecret(project, name));
  return api.PUT(SECRET, { params: { path: { project, name } }, body });
}

export const removeSecret = (project: string, name: string) =>
  api.DELETE(SECRET, { params: { path: { project, name } } });
