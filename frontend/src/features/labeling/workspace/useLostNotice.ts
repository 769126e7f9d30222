import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import type { LeasedSlot } from '@/api/contract/labeling';
import { notifyWarning } from '@/shared/ui/undo';
import type { Gone } from './leases';

/** Tells the labeler of a grid that leases are gone, and where they went. */
export function useLostNotice() {
  const { t } = useTranslation();
  return useCallback(
    (slots: LeasedSlot[], lease: Gone) =>
      notifyWarning(
        t(lease === 'elsewhere' ? 'labeling.work.leaseElsewhere' : 'labeling.work.leaseLost', { count: slots.length }),
      ),
    [t],
  );
}
