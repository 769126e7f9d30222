import { Button, type ButtonProps, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ModelVersion } from '@/api/contract/models';
import { ButtonLink } from '@/shared/ui/links';

/** Starts the workflow that measures this version; says why not where it could not read it. */
export function EvaluateLink({ version, variant }: { version: ModelVersion; variant?: ButtonProps['variant'] }) {
  const { t } = useTranslation();
  const { model, number, not_evaluable: lacks, trained_on: data } = version;
  if (lacks)
    return (
      <Tooltip
        label={t(`models.notEvaluable.${lacks}`)}
        multiline
        maw={340}
        events={{ hover: true, focus: true, touch: true }}
      >
        {/* Not `disabled`: the reason must be reachable by keyboard too. */}
        <Button variant="default" data-disabled aria-disabled aria-description={t(`models.notEvaluable.${lacks}`)}>
          {t('models.evaluate')}
        </Button>
      </Tooltip>
    );
  return (
    <ButtonLink
      variant={variant}
      to="/runs/new"
      search={{
        workflow: version.signature.output === 'boxes' ? 'evaluate-detector' : 'evaluate-classifier',
        model: `${model}@v${number}`,
        // The newest version of what it learned from; the wizard's list has the one that it was trained on.
        dataset: data ? `${data.dataset}@${data.current}` : undefined,
      }}
    >
      {t('models.evaluate')}
    </ButtonLink>
  );
}
