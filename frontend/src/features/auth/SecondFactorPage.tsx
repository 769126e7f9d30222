import { Button, Loader } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '@/api/client';
import { useRefreshSecondFactor, useSecondFactor } from '@/shared/domain/secondFactor/queries';
import { SetUp } from '@/shared/domain/secondFactor/SetUp';
import { ErrorState } from '@/shared/ui/ErrorState';
import { notifyError } from '@/shared/ui/undo';
import { Frame } from './Frame';
import { isServerPage, safeNext } from './safeNext';

const route = getRouteApi('/second-factor');

/** A second factor that has to be set up before anything else is allowed. */
export function SecondFactorPage() {
  const { t } = useTranslation();
  const { next } = route.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const refresh = useRefreshSecondFactor();
  const { data: factor, error, isPending, refetch } = useSecondFactor();
  const goOn = async () => {
    await refresh();
    const target = safeNext(next);
    if (isServerPage(target)) window.location.replace(target);
    else router.history.replace(target);
  };
  const leave = async () => {
    await api.POST('/api/v1/auth/logout/');
    client.clear();
    router.history.replace('/login');
  };
  return (
    <Frame title={t('secondFactor.demandedTitle')} subtitle={t('secondFactor.demandedSubtitle')}>
      {isPending && <Loader size="sm" aria-label={t('common.loading')} />}
      {error && <ErrorState error={error} onRetry={() => void refetch()} compact />}
      {factor && <SetUp hasPassword={factor.has_password} isOn={factor.is_on} onDone={() => void goOn()} />}
      <Button variant="subtle" size="compact-sm" onClick={() => void leave().catch(notifyError)}>
        {t('shell.signOut')}
      </Button>
    </Frame>
  );
}
