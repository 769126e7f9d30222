import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { AnchorLink } from '@/shared/ui/links';

/** Links to the model versions that the run became. */
export function RegisteredVersions({ run }: { run: Run }) {
  const { t } = useTranslation();
  return run.model_versions.map(({ model, number }, index) => (
    <span key={`${model}/${number}`}>
      {index > 0 && ', '}
      <AnchorLink to="/models/$name/versions/$n" params={{ name: model, n: String(number) }} fz="inherit">
        {t('jobs.modelVersion', { model, number })}
      </AnchorLink>
    </span>
  ));
}
