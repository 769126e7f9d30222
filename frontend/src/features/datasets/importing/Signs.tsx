import { Alert } from '@mantine/core';
import { IconFileSearch, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ImportSigns } from '@/api/contract/datasets';
import { visible } from '@/shared/ui/visible';
import { Lines } from './Lines';

/** The files of the version that look like annotations or archives. */
export function Signs({ signs }: { signs: ImportSigns | undefined }) {
  const { t } = useTranslation();
  if (!signs) return null;
  if (!signs.is_complete)
    return (
      <Alert color="gray" icon={<IconInfoCircle size={18} />}>
        {t('importing.tooMany')}
      </Alert>
    );
  const found = signs.signs.map(({ format, files, first }) => {
    const said = { format: t(`importing.formats.${format}`), first: visible(first) };
    return files > 1 ? t('importing.foundMore', { ...said, count: files - 1 }) : t('importing.foundFormat', said);
  });
  const [archive] = signs.archives;
  if (archive) found.push(t('importing.foundArchives', { count: signs.archives_total, first: visible(archive.path) }));
  if (found.length === 0)
    return (
      <Alert color="gray" icon={<IconInfoCircle size={18} />} title={t('importing.foundNothing')}>
        {t('importing.foundNothingHint')}
      </Alert>
    );
  return (
    <Alert icon={<IconFileSearch size={18} />} title={t('importing.found')}>
      <Lines lines={found} />
    </Alert>
  );
}
