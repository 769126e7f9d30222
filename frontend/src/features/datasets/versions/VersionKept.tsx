import { Badge, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Version } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { useRestoreVersion } from '../keeping/queries';

/** That a version has expired, and its way back while its files are there; nothing for a kept one. */
export function VersionKept({ dataset, version }: { dataset: string; version: Version }) {
  const { t } = useTranslation();
  const may = useMay('admin');
  const { restore, isPending } = useRestoreVersion(dataset);
  const { ref, state } = version;
  if (state !== 'expired' && state !== 'collected') return null;
  const bringBack = () =>
    void restore(ref)
      .then(() => notifySuccess(t('datasets.restored', { ref })))
      .catch(notifyError);
  return (
    <>
      <Badge size="sm" color="orange">
        {t(`datasets.version_${state}`)}
      </Badge>
      {state === 'expired' && may && (
        <Button
          size="compact-xs"
          variant="light"
          loading={isPending}
          aria-label={t('datasets.restoreName', { ref })}
          onClick={(event) => {
            event.stopPropagation();
            bringBack();
          }}
        >
          {t('datasets.restore')}
        </Button>
      )}
    </>
  );
}
