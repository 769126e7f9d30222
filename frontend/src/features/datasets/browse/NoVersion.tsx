import { IconDatabase } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/shared/EmptyState';
import { AnchorLink } from '@/shared/links';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { ImportCommands } from './ImportCommands';
import { QuarantineNotice } from './QuarantineNotice';

/** A dataset that was created, but nothing has been pushed to. */
export function NoVersion({ name, description }: { name: string; description: string }) {
  const { t } = useTranslation();
  const hint = (
    <>
      {t('datasets.emptyHint')}
      <ImportCommands name={name} />
    </>
  );
  return (
    <Page>
      <PageHeader
        title={name}
        subtitle={description}
        above={
          <AnchorLink to="/datasets" size="sm">
            {t('datasets.title')}
          </AnchorLink>
        }
      />
      <QuarantineNotice name={name} />
      <EmptyState icon={IconDatabase} title={t('datasets.noVersion')} hint={hint} />
    </Page>
  );
}
