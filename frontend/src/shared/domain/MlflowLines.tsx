import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CommandLine } from '../ui/CommandLine';
import { AnchorLink } from '../ui/links';
import { useCurrentProject } from './project';

/** The two lines that make an MLflow client, wherever it runs, log to this project; the token is not ours to show. */
export function MlflowLines({ linksToTokens = true }: { linksToTokens?: boolean }) {
  const { t } = useTranslation();
  const project = useCurrentProject();
  if (!project) return null;
  const uri = `${window.location.origin}/api/mlflow/${project.slug}`;
  return (
    <Stack gap={6} ta="left" w="100%" maw={640}>
      <Text size="sm" fw={600} component="h2">
        {t('common.mlflow.title')}
      </Text>
      <Text size="sm" c="dimmed">
        {t('common.mlflow.hint')}{' '}
        {linksToTokens && (
          <AnchorLink to="/settings/tokens" fz="inherit" underline="always">
            {t('common.mlflow.makeToken')}
          </AnchorLink>
        )}
      </Text>
      <CommandLine command={`export MLFLOW_TRACKING_URI=${uri}`} />
      <CommandLine command="export MLFLOW_TRACKING_TOKEN=atom_…" />
    </Stack>
  );
}
