#!/usr/bin/env python3
"""Writes a trace like those of PyTorch's profiler: kineto-trace.py MEGABYTES FILE."""
import random,sys
random.seed(1)
mb=int(sys.argv[1]); out=open(sys.argv[2],'w',buffering=1<<20)
out.write('''{
  "schemaVersion": 1,
  "deviceProperties": [
    {"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85028765696}
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1700000000000000000,
  "traceEvents": [
''')
n=0;t=1000.0;corr=1;first=True;size=0
ops=["aten::linear","aten::addmm","aten::relu","aten::convolution","aten::cudnn_convolution","aten::empty","aten::copy_","autograd::engine::evaluate_function: AddmmBackward0"]
kern=["void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)","ampere_sgemm_128x64_tn","ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"]
while size<mb*1000000:
    t+=random.random()*8
    d=random.random()*20
    o=random.choice(ops)
    L=[]
    L.append('''  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": 4242, "tid": %d,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,"Record function id": 0, "Sequence number": %d, "Fwd thread id": 0, "Ev Idx": %d
    }
  }'''%(o,4242+random.randint(0,1),t,d,n,n,n))
    L.append('''  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4242, "tid": 4242,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "cbid": 211, "correlation": %d
    }
  }'''%(t+1,3.5,n,corr))
    L.append('''  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %d, "registers per thread": 32, "shared memory": 0, "blocks per SM": 0.592593, "warps per SM": 2.370370, "grid": [64, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %%": 4
    }
  }'''%(random.choice(kern),t+20,d/2,n,corr))
    L.append('''  {
    "ph": "s", "id": %d, "pid": 4242, "tid": 4242, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"
  }'''%(corr,t+1))
    L.append('''  {
    "ph": "f", "id": %d, "pid": 0, "tid": 7, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }'''%(corr,t+20))
    s=',\n'.join(L)
    if not first: s=',\n'+s
    first=False
    out.write(s);size+=len(s);n+=1;corr+=1
out.write('\n  ],\n  "traceName": "x.json"\n}\n')
