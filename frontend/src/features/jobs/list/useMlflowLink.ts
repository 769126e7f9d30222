import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

const RUN = /^#\/experiments\/[^/]+\/runs\/([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** The id of the run that a link printed by an MLflow client names in its fragment. */
export const runOfFragment = (fragment: string): string | undefined => RUN.exec(fragment)?.slice(1).join('-');

/** Goes on to the run of such a link: the server can send a browser to this page only, as it does not see the fragment. */
export function useMlflowLink() {
  const navigate = useNavigate();
  useEffect(() => {
    const runId = runOfFragment(window.location.hash);
    if (runId) void navigate({ to: '/runs/$runId', params: { runId }, hash: '', replace: true });
  }, [navigate]);
}
