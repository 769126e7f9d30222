import { Button, Center, Loader, Stack, VisuallyHidden } from '@mantine/core';
import { IconCloudOff, IconError404, IconRefresh } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiError } from '@/api/errors';
import { connection, useIsOnline } from '@/shared/live/connection';
import { CopyIcon } from '@/shared/ui/CopyId';
import { EmptyState } from '@/shared/ui/EmptyState';
import { ErrorState } from '@/shared/ui/ErrorState';
import { ButtonLink } from '@/shared/ui/links';
import { Page } from '@/shared/ui/Page';
import { PageHeader } from '@/shared/ui/PageHeader';

/** In the place of a page whose script or data is on its way; it says so when nothing can come. */
export function PagePending() {
  const { t } = useTranslation();
  if (!useIsOnline()) return <PageWaits />;
  return (
    <Center mih="40vh" role="status">
      <Loader size="sm" />
      <VisuallyHidden>{t('shell.loadingPage')}</VisuallyHidden>
    </Center>
  );
}

/** A page that was not loaded before the connection went; it appears by itself when that is back. */
export function PageWaits() {
  const { t } = useTranslation();
  const retry = (
    <Button variant="default" leftSection={<IconRefresh size={14} />} onClick={() => void connection.check()}>
      {t('common.retry')}
    </Button>
  );
  return (
    <div role="status">
      <EmptyState icon={IconCloudOff} title={t('errors.pageWaits')} action={retry} />
    </div>
  );
}

export function NotFound() {
  const { t } = useTranslation();
  const home = (
    <ButtonLink to="/" variant="default">
      {t('nav.overview')}
    </ButtonLink>
  );
  return (
    <Page>
      <PageHeader title={t('errors.notFound')} />
      <EmptyState icon={IconError404} title={t('errors.notFoundHint')} action={home} />
    </Page>
  );
}

/** A page that threw. A failed lazy load after a deployment ends here too: reloading gets the new files. */
export function PageCrash({ error: thrown, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error instanceof ApiError)
    return (
      <Page>
        <ErrorState error={error} onRetry={reset} />
      </Page>
    );
  const reload = (
    <Stack align="center" gap="xs">
      <Button leftSection={<IconRefresh size={14} />} onClick={() => window.location.reload()}>
        {t('errors.reload')}
      </Button>
      <span>
        <code>{error.message}</code> <CopyIcon value={error.stack ?? error.message} what={t('common.details')} />
      </span>
    </Stack>
  );
  return (
    <Page>
      <EmptyState title={t('errors.crash')} action={reload} />
    </Page>
  );
}
