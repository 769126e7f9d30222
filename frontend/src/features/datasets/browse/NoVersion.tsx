import { Stack } from '@mantine/core';
import { IconDatabase, IconUpload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Dataset } from '@/api/contract/datasets';
import { useMay } from '@/shared/domain/project';
import { CommandLine } from '@/shared/ui/CommandLine';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { DatasetHeader } from '../DatasetHeader';
import { DropAnywhere } from '../upload/DropAnywhere';
import { ImportCommands } from './ImportCommands';
import { QuarantineNotice } from './QuarantineNotice';

/** A dataset that was created, but nothing has been pushed to. */
export function NoVersion({ name, description, is_loading }: Pick<Dataset, 'name' | 'description' | 'is_loading'>) {
  const { t } = useTranslation();
  const mayUpload = useMay('researcher') && !is_loading;
  const action = is_loading ? (
    <CommandLine command={`atom data archive load ./archive --name ${name}`} />
  ) : (
    <Stack align="center" gap="xs">
      {mayUpload && (
        <ButtonLink leftSection={<IconUpload size={15} />} to="/uploads" search={{ dataset: name }}>
          {t('upload.linkFolder')}
        </ButtonLink>
      )}
      {mayUpload && <DropAnywhere label={t('upload.dropHere', { name })} search={() => ({ dataset: name })} />}
      <ImportCommands name={name} />
    </Stack>
  );
  return (
    <Page>
      <DatasetHeader name={name} tab="files" subtitle={description} />
      <QuarantineNotice name={name} />
      <EmptyState
        icon={IconDatabase}
        title={t(is_loading ? 'datasets.loading' : 'datasets.noVersion')}
        action={action}
      />
    </Page>
  );
}
