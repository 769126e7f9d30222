import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useCodeChanges } from '../queries';
import { DiffResult } from './DiffView';

/** Changes that were not committed when the code of a run was sent. */
export function CodeChanges({ run }: { run: string }) {
  const { t } = useTranslation();
  const changes = useCodeChanges(run);
  return (
    <>
      {changes.data?.commit && !changes.data.reason && (
        <Text size="sm" mb="xs">
          {t('runpage.code.since', { commit: changes.data.commit.slice(0, 10) })}
        </Text>
      )}
      <DiffResult query={changes} />
    </>
  );
}
