from typing import Any

from .charts import Window
from .frame import Moment, PandasFrame

class PT_dataloader_analysis:
    pd_data_frame: PandasFrame
    dataIter_metric: Any
    initialize_metric: Any
    dataWorker_metric: Any
    analyze_dataIter: bool
    analyze_initializer: bool
    analyze_workers: bool
    def __init__(self, pandas_frame: PandasFrame) -> None: ...
    def analyze_dataloaderIter_initialization(self) -> None: ...
    def analyze_dataloaderWorkers(self) -> Any: ...
    def analyze_dataloader_getnext(self) -> Any: ...
    def analyze_batchtime(self) -> Any: ...
    def plot_the_window(
        self,
        start_timestamp: Moment,
        end_timestamp: Moment,
        select_events: list[str] = [".*"],
        select_dimensions: list[str] = [".*"],
    ) -> Window: ...
