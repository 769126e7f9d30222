import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api } from '@/api/client';
import { useProject } from '@/shared/domain/project';

const RUN = /^#\/experiments\/[^/]+\/runs\/([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;
const EXPERIMENT = /^#\/experiments\/(0|[0-9a-f]{32})$/;
// MLflow's name for the experiment with the id 0.
const DEFAULT = 'Default';

/** The id of the run that a link printed by an MLflow client names in its fragment. */
export const runOfFragment = (fragment: string): string | undefined => RUN.exec(fragment)?.slice(1).join('-');

/** The id of the experiment that such a link names, and no run of it. */
export const experimentOfFragment = (fragment: string): string | undefined => EXPERIMENT.exec(fragment)?.[1];

async function nameOf(project: string, experiment: string): Promise<string | undefined> {
  if (experiment === '0') return DEFAULT;
  const params = { path: { project }, query: { experiment, limit: 1 } };
  const { data } = await api.GET('/api/v1/projects/{project}/runs/', { params });
  return data?.results[0]?.experiment;
}

/** Goes on to the run or the experiment of such a link: the server sends a browser to this page only, as it does not see the fragment. */
export function useMlflowLink() {
  const navigate = useNavigate();
  const project = useProject();
  useEffect(() => {
    const { hash } = window.location;
    const runId = runOfFragment(hash);
    if (runId) void navigate({ to: '/runs/$runId', params: { runId }, hash: '', replace: true });
    const id = experimentOfFragment(hash);
    if (!id) return;
    // Whoever types meanwhile stays with what they have typed; without the name, all runs are shown.
    void nameOf(project, id).then(
      (experiment) => {
        if (experiment && window.location.hash === hash)
          void navigate({ to: '/runs', search: (old) => ({ ...old, experiment }), hash: '', replace: true });
      },
      () => undefined,
    );
  }, [navigate, project]);
}
